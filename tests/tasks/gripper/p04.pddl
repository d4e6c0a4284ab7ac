(define (problem gripper-04)
  (:domain gripper)
  (:objects
    ball1 ball2 ball3 ball4 - ball
    room1 room2 - room
  )
  (:init
    (robot-in room1)
    (free left)
    (free right)
    (in ball1 room1)
    (in ball2 room1)
    (in ball3 room1)
    (in ball4 room1)
  )
  (:goal (and
    (in ball1 room2)
    (in ball2 room2)
    (in ball3 room2)
    (in ball4 room2)
  )))
