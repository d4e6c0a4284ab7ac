(define (problem rovers-01)
  (:domain rovers)
  (:objects
    point1 point2 - point
    rover1 - rover
    camera1 - camera
    target1 - target
    base - lander
  )
  (:init
    (lander-at base point1)
    (sees point1 point2)
    (sees point2 point1)
    (drives rover1 point1 point2)
    (drives rover1 point2 point1)
    (at rover1 point1)
    (empty rover1)
    (sampler rover1)
    (mounted camera1 rover1)
    (aims camera1 target1)
    (visible target1 point1)
    (visible target1 point2)
    (soil point2)
  )
  (:goal (and
    (sent-soil point2)
  )))
