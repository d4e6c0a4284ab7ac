(define (problem gripper-01)
  (:domain gripper)
  (:objects
    ball1 - ball
    room1 room2 - room
  )
  (:init
    (robot-in room1)
    (free left)
    (free right)
    (in ball1 room1)
  )
  (:goal (and
    (in ball1 room2)
  )))
