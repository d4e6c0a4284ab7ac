(define (problem keys-01)
  (:domain keys)
  (:objects
    hall vault - place
    k1 - key
    round - shape
  )
  (:init
    (here hall)
    (path hall vault)
    (path vault hall)
    (lies k1 hall)
    (fits k1 round)
    (lock vault round)
    (shut vault)
  )
  (:goal (and
    (here vault)
  )))
